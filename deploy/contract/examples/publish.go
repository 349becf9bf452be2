// Publishes one push message to PushFleet and waits until RabbitMQ has it safely.
//
// Needs amqp091-go and uuid:
//
//	go get github.com/rabbitmq/amqp091-go github.com/google/uuid
//
// Run: AMQP_URL=amqps://user:password@rabbitmq.example.com/%2F go run publish.go
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	app  = "com.example.shop"
	lane = "now" // or "bulk"
)

func main() {
	id := uuid.NewString()
	if err := publish(id); err != nil {
		// Publish again with the same message id: it stays one push.
		fmt.Fprintln(os.Stderr, "not published:", err)
		os.Exit(1)
	}
	fmt.Println(id)
}

func publish(id string) error {
	body, err := json.Marshal(map[string]any{
		"app":         app,
		"tokens":      []string{"00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"},
		"push_type":   "alert",
		"priority":    10,
		"collapse_id": "order-17",
		"expires_at":  time.Now().Add(time.Hour).Unix(),
		"payload": map[string]any{"aps": map[string]any{"alert": map[string]string{
			"title": "On its way", "body": "Order 17 has left our house.",
		}}},
	})
	if err != nil {
		return err
	}

	url := os.Getenv("AMQP_URL")
	if url == "" {
		url = "amqp://guest:guest@localhost:5672/%2F"
	}
	connection, err := amqp.Dial(url)
	if err != nil {
		return err
	}
	defer connection.Close()
	channel, err := connection.Channel()
	if err != nil {
		return err
	}
	if err := channel.Confirm(false); err != nil {
		return err
	}
	closed := channel.NotifyClose(make(chan *amqp.Error, 1))
	returns := channel.NotifyReturn(make(chan amqp.Return, 1))
	confirms := channel.NotifyPublish(make(chan amqp.Confirmation, 1))

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	// The first true is mandatory: unroutable is an error, the app has no queue.
	err = channel.PublishWithContext(ctx, "pushfleet", app+"."+lane, true, false, amqp.Publishing{
		MessageId:    id,
		Timestamp:    time.Now(),
		ContentType:  "application/json",
		DeliveryMode: amqp.Persistent,
		Body:         body,
	})
	if err != nil {
		return err
	}
	select {
	case confirm, open := <-confirms:
		if !open {
			return <-closed
		}
		if !confirm.Ack {
			return errors.New("RabbitMQ refused the message")
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	// RabbitMQ returns an unroutable message before it confirms it.
	select {
	case returned := <-returns:
		return fmt.Errorf("no queue took the message: %s", returned.ReplyText)
	default:
		return nil
	}
}
